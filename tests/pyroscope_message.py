"""Messages of Pyroscope's QuerierService for the protobuf library of PyPI, which knows nothing of this project: from their numbers and types."""

from pprof_message import message_classes

DOUBLE, INT64, INT32, STRING = 1, 3, 5, 9

# message: field number: (name, type or message, repeated)
MESSAGES = {
    "ProfileTypesRequest": {1: ("start", INT64, False), 2: ("end", INT64, False)},
    "ProfileType": {1: ("ID", STRING, False), 2: ("name", STRING, False), 4: ("sample_type", STRING, False), 5: ("sample_unit", STRING, False),
                    6: ("period_type", STRING, False), 7: ("period_unit", STRING, False)},
    "ProfileTypesResponse": {1: ("profile_types", "ProfileType", True)},
    "LabelValuesRequest": {1: ("name", STRING, False), 2: ("matchers", STRING, True), 3: ("start", INT64, False), 4: ("end", INT64, False)},
    "LabelValuesResponse": {1: ("names", STRING, True)},
    "LabelNamesRequest": {1: ("matchers", STRING, True), 2: ("start", INT64, False), 3: ("end", INT64, False)},
    "LabelNamesResponse": {1: ("names", STRING, True)},
    "LabelPair": {1: ("name", STRING, False), 2: ("value", STRING, False)},
    "Labels": {1: ("labels", "LabelPair", True)},
    "SeriesRequest": {1: ("matchers", STRING, True), 2: ("label_names", STRING, True), 3: ("start", INT64, False), 4: ("end", INT64, False)},
    "SeriesResponse": {2: ("labels_set", "Labels", True)},
    "SelectMergeStacktracesRequest": {1: ("profile_typeID", STRING, False), 2: ("label_selector", STRING, False), 3: ("start", INT64, False),
                                      4: ("end", INT64, False), 5: ("max_nodes", INT64, False), 6: ("format", INT32, False)},
    "Level": {1: ("values", INT64, True)},
    "FlameGraph": {1: ("names", STRING, True), 2: ("levels", "Level", True), 3: ("total", INT64, False), 4: ("max_self", INT64, False)},
    "SelectMergeStacktracesResponse": {1: ("flamegraph", "FlameGraph", False)},
    "SelectSeriesRequest": {1: ("profile_typeID", STRING, False), 2: ("label_selector", STRING, False), 3: ("start", INT64, False),
                            4: ("end", INT64, False), 5: ("group_by", STRING, True), 6: ("step", DOUBLE, False)},
    "Point": {1: ("value", DOUBLE, False), 2: ("timestamp", INT64, False)},
    "PointSeries": {1: ("labels", "LabelPair", True), 2: ("points", "Point", True)},
    "SelectSeriesResponse": {1: ("series", "PointSeries", True)},
    "SelectMergeProfileRequest": {1: ("profile_typeID", STRING, False), 2: ("label_selector", STRING, False), 3: ("start", INT64, False),
                                  4: ("end", INT64, False), 5: ("max_nodes", INT64, False)},
}


def classes():
    """{name: class}"""
    return message_classes("querier", MESSAGES)


CLASSES = classes()


def stacks(names, levels):
    """{(frames from outermost): own weight} of a flame graph, whose boxes must lie within those below them."""
    found, below = {}, [(0, 1 << 62, ())]
    for depth, level in enumerate(levels):
        boxes, place = [], 0
        assert len(level) % 4 == 0
        for at in range(0, len(level), 4):
            distance, total, own, name = level[at:at + 4]
            assert distance >= 0 and 0 <= own <= total and total > 0
            start, place = place + distance, place + distance + total
            caller = next(each for each in below if each[0] <= start and place <= each[1])
            frames = caller[2] + ((names[name],) if depth else ())
            boxes.append((start, place, frames))
            if own:
                found[frames] = found.get(frames, 0) + own
        below = boxes
    return found
