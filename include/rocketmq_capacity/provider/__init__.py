"""What Airflow needs to know of the plan. Only this room imports Airflow, and it does not import Spark."""
