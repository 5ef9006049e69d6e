"""Which PySpark an app imports: the installed package where it is the same code as the archive of spark-submit."""

from pathlib import Path

from rocketmq_capacity.steps.app import prefer_installed_pyspark


def installed_in(site: Path) -> list[str]:
    """A PySpark in this folder, and the archives that spark-submit puts on the path for it."""
    package = site / "pyspark"
    (package / "python" / "lib").mkdir(parents=True)
    (package / "__init__.py").touch()
    archives = [package / "python" / "lib" / name for name in ("pyspark.zip", "py4j-0.10.9.9-src.zip")]
    for archive in archives:
        archive.touch()
    return [str(archive) for archive in archives]


def test_the_installed_package_comes_before_its_archives(tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    path = ["apps", "code.zip", *installed_in(site), str(site), "include"]

    prefer_installed_pyspark(path)

    assert path == ["apps", "code.zip", str(site), "include"]


def test_the_archives_of_a_pyspark_that_is_not_on_the_path_stay(tmp_path: Path) -> None:
    archives = installed_in(tmp_path / "another")
    path = ["code.zip", *archives, str(tmp_path / "site-packages")]

    prefer_installed_pyspark(path)

    assert path == ["code.zip", *archives, str(tmp_path / "site-packages")]


def test_the_archives_of_a_spark_without_an_installed_package_stay(tmp_path: Path) -> None:
    spark = tmp_path / "spark"
    archives = [f"{spark}/python/lib/pyspark.zip", f"{spark}/python/lib/py4j-0.10.9.9-src.zip"]
    path = [*archives, str(spark), str(tmp_path)]

    prefer_installed_pyspark(path)

    assert path == [*archives, str(spark), str(tmp_path)]
