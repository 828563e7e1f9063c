"""Arithmetic of the functional model: functions of numpy arrays that know no machine.

- ``integer``: carries, shifts, bit fields, counting and turning bits.
- ``ieee``: single and double precision, each operation rounded once, with the hardware's NaNs.
- ``transcendental``: reciprocals, roots, powers and circles in float32, nearest or second nearest.
- ``division``: the three helpers of the division sequence.
- ``narrow``: f16, bf16 and the floats of at most eight bits.

They import nothing of the model but ``arrays``. A NaN's bits count, and so does the sign of a zero:
what differs from the published text, or is left open by it, stands at the function and in
docs/model.md.
"""
