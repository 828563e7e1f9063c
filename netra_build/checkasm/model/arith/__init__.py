"""Arithmetic of the functional model: functions of numpy arrays, independent of the machine.

- ``integer``: carries, shifts, bit fields, counting and turning bits.
- ``ieee``: single and double precision, each operation rounded once, with the hardware's NaNs.
- ``transcendental``: reciprocals, roots, powers, sine and cosine in float32.
- ``division``: the three helpers of the division sequence.
- ``narrow``: f16, bf16 and the floats of at most eight bits.

They import nothing of the model but ``arrays``. The bits of a NaN and the sign of a zero count as
part of a result. Deviations from the published text, and cases that it leaves open, are noted at
the function and in docs/model.md.
"""
