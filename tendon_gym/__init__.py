"""Gymnasium environments for soft aerial manipulation, with tools for any MuJoCo model.

Importing this package registers the environments; MuJoCo and the compiler are loaded when the
first environment is made.
"""

from tendon_gym.registration import register_all

__version__ = "0.1.0"

register_all()
