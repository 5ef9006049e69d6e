"""What an allocation means: loads, skew, the strategy in use, provision, and what is wrong."""
