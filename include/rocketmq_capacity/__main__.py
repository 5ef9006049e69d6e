"""``python -m rocketmq_capacity`` is the command line."""

from rocketmq_capacity.cli import main

if __name__ == "__main__":
    main()
