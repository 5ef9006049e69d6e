"""The tests of the house, room by room.

A folder is a package where it has fixtures of the scope ``package``: pytest ends those with the folder's last test only
where the folder and all folders above it are packages, and with the session elsewhere.
"""
