"""Flights and what they are worth: rollouts, metrics, comparisons, plots and videos.

`benchmarks` says what is flown; `rollout.fly` flies it with a policy; `metrics` and `statistics`
turn flights into numbers with intervals; `compare.compare` does it for many policies, `table` and
`plots` show the result, and `video.record` films a flight. Nothing is imported here, so that the
command line starts fast.
"""
