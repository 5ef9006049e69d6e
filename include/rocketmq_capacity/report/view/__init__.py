"""Rows and plan -> what the template sees: frozen values, ready to be written, nothing left to work out."""
