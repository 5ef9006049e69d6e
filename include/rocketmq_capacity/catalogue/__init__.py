"""What is known of each rule and each action beside its function: one record, in the module of that function.

Records are found, never listed: :mod:`~rocketmq_capacity.catalogue.action` looks for them in ``recommendation``.
"""
