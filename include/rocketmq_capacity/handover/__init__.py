"""What a plan hands over to other tools: metrics, the desired state, a runbook, bounds for autoscalers.

Every file is made from the plan alone, or from the plan and rows of its run. A what-if hands over nothing: other tools
would take its changed cluster for the real one.
"""
