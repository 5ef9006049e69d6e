"""The Spark session and its JVM; units gathered from tables and mapped over."""
