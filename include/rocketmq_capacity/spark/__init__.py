"""The Spark session and its JVM, and plain Python mapped over units."""
