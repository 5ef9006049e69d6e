"""Which PySpark is imported: the installed package where it is the same code as the archives that Spark has."""

from pathlib import Path

from rocketmq_capacity.spark.daemon import without_archives


def installed_in(site: Path) -> list[str]:
    """A PySpark in this folder, and the archives that Spark puts on the path for it."""
    package = site / "pyspark"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    archives = "python/lib/pyspark.zip", "python/lib/py4j-0.10.9.9-src.zip", "jars/spark-core.jar"
    return [str(package / archive) for archive in archives]


def test_the_installed_package_comes_before_its_archives(tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    path = ["apps", "code.zip", *installed_in(site), str(site), "include"]

    assert without_archives(path) == ["apps", "code.zip", str(site), "include"]


def test_the_archives_of_a_pyspark_that_is_not_on_the_path_stay(tmp_path: Path) -> None:
    archives = installed_in(tmp_path / "another")
    path = ["code.zip", *archives, str(tmp_path / "site-packages")]

    assert without_archives(path) == ["code.zip", *archives, str(tmp_path / "site-packages")]


def test_the_archives_of_a_spark_without_an_installed_package_stay(tmp_path: Path) -> None:
    spark = tmp_path / "spark"
    archives = [f"{spark}/python/lib/pyspark.zip", f"{spark}/python/lib/py4j-0.10.9.9-src.zip"]
    path = [*archives, str(spark), str(tmp_path)]

    assert without_archives(path) == [*archives, str(spark), str(tmp_path)]
