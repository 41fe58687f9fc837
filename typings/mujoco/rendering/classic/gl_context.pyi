from typing import Any

GLContext: Any
