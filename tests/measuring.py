"""Statements about measurements that the machine's other work may disturb."""


def mostly(check, least=2, of=3):
    """At least `least` of `of` measurements hold. `check` returns None, or what is wrong; it asserts what no noise excuses, such as exit
    statuses and wrong data. Measuring stops when the outcome is decided; all measurements are printed."""
    outcomes = []
    while outcomes.count(None) < least and len(outcomes) - outcomes.count(None) <= of - least:
        outcomes.append(check())
    text = "; ".join("holds" if outcome is None else str(outcome) for outcome in outcomes)
    print(f"{outcomes.count(None)} of {len(outcomes)} measurements hold: {text}")
    assert outcomes.count(None) >= least, f"{least} of {of} measurements must hold: {text}"


def collect(measure, is_enough, most=20):
    """Add up what measurements find until that is enough, `most` times: for things that are seen sooner or later. `measure` adds to what it
    is given and asserts what must hold of each. Returns the number of measurements."""
    for number in range(1, most + 1):
        measure()
        if is_enough():
            print(f"enough after {number} measurements")
            return number
    raise AssertionError(f"not enough after {most} measurements")
