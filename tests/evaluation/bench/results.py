"""A small result of the benchmark, with round numbers, for what is made of results."""

from __future__ import annotations


def row(part, case, engine, us, speed=None, n=64, threads=1, **more):
    """Return a row; a speed is its median, with quartiles 10 % around it."""
    spread = {"median": speed, "low": 0.9 * speed, "high": 1.1 * speed} if speed else None
    return {
        "part": part,
        "name": f"{case}, {engine}",
        "case": case,
        "engine": engine,
        "num_envs": n,
        "threads": threads,
        "substeps": 5,
        "timestep": 0.002,
        "nv": 30,
        "us": {"median": us, "low": 0.9 * us, "high": 1.1 * us},
        "env_steps_per_second": 1e6 / us,
        "physics_steps_per_second": 5e6 / us,
        "simulated_seconds_per_second": 1e4 / us,
        "against": "mj_step" if speed else None,
        "speed": spread,
        **more,
    }


def result():
    """Return a result in which some requirements hold and some don't."""
    own = "compiled"
    return {
        "rows": [
            row("engine alone", "mj_step", "mujoco", 100.0, n=1),
            row("engine alone", "engine alone, 1 simulation, 1 thread", own, 10.0, 10.0, n=1),
            row("engine alone", "engine alone, 64 simulations, 1 thread", own, 6.25, 16.0),
            row("held actions", "mj_step", "mujoco", 100.0, n=1),
            row("held actions", "scalar", "mujoco", 125.0, 0.8, n=1),
            row("law at every 2 ms", "mj_step", "mujoco", 100.0, n=1),
            row("law at every 2 ms", "scalar", "mujoco", 140.0, 0.7, n=1),
            row("law at every 2 ms", "scalar", own, 25.0, 4.0, n=1),
            row("native", "mj_step", "mujoco", 100.0, n=1),
            row("native", "native, 64 envs, 1 thread", "mujoco", 100.0, 1.0),
            row("native", "native, 64 envs, 1 thread", own, 10.0, 10.0),
            row("native", "native, 64 envs, 2 threads", own, 5.0, 10.0, threads=2),
            row("links", "engine alone, 64 simulations, 1 thread", own, 20.0, 9.0, links=6),
            row("links", "engine alone, 64 simulations, 1 thread", own, 35.0, 9.0, links=12),
            row("links", "engine alone, 64 simulations, 1 thread", own, 65.0, 9.0, links=24),
            row("mission", "scalar, law inside", own, 5.0, 7.0, n=1),
        ],
        "fits": {own: {"slope": 0.5, "intercept": 1.0, "r_squared": 1.0}},
        "phases": [
            {
                "name": "law, 64 envs, compiled",
                "engine": own,
                "num_envs": 64,
                "us": {"physics": 6.0, "control": 2.0, "observation": 1.5, "reward": 0.3},
                "total_us": 10.0,
                "sum_over_total": 0.98,
                "resets_per_step": 0.0,
            },
            {
                "name": "law, 1 env, compiled",
                "engine": own,
                "num_envs": 1,
                "us": {"physics": 6.0, "control": 2.0, "observation": 0.7, "reward": 0.3},
                "total_us": 10.0,
                "sum_over_total": 0.9,
                "resets_per_step": 0.0,
            },
        ],
        "memory": {
            own: {
                "engine_bytes": 11e3,
                "environment_bytes": 21e3,
                "steps": 1000,
                "growth_over_steps": 0.0,
                "resets": 100,
                "growth_over_resets": 4096.0,
            }
        },
        "engines": ["mujoco", own],
        "quick": False,
        "protocol": {"rounds": 11, "seconds": 0.06},
        "machine": {"processor": "a processor", "cores": 4, "affinity": [0, 1], "load": [0, 0, 0]},
        "versions": {"mujoco": "4.0.0", "numpy": "2.4.6", "numba": "0.68.1", "python": "3.11.7"},
        "seconds": 1.0,
    }
