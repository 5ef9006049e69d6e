"""An auth manager that decides by Dag, as those of real deployments do; Airflow's simple one decides only by role."""

from typing import Any

from airflow.api_fastapi.auth.managers.simple.simple_auth_manager import SimpleAuthManager

from tests.plugins.users import READS


class PerDagAuthManager(SimpleAuthManager):
    """Logins and roles of the simple auth manager, less the Dags that a user may not read."""

    def is_authorized_dag(self, *, method: Any, user: Any, access_entity: Any = None, details: Any = None) -> bool:
        """Whether this user may do that with this Dag."""
        allowed = READS.get(user.username)
        if allowed is not None and details is not None and details.id not in allowed:
            return False
        return bool(super().is_authorized_dag(method=method, user=user, access_entity=access_entity, details=details))
