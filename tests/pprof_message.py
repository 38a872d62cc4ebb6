"""pprof's messages for the protobuf library of PyPI, which knows nothing of this project: from their numbers and types."""

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

INT64, UINT64, BOOL, STRING, MESSAGE = 3, 4, 8, 9, 11

# message: field number: (name, type or message, repeated)
MESSAGES = {
    "ValueType": {1: ("type", INT64, False), 2: ("unit", INT64, False)},
    "Label": {1: ("key", INT64, False), 2: ("str", INT64, False), 3: ("num", INT64, False),
              4: ("num_unit", INT64, False)},
    "Sample": {1: ("location_id", UINT64, True), 2: ("value", INT64, True), 3: ("label", "Label", True)},
    "Mapping": {1: ("id", UINT64, False), 2: ("memory_start", UINT64, False), 3: ("memory_limit", UINT64, False),
                4: ("file_offset", UINT64, False), 5: ("filename", INT64, False), 6: ("build_id", INT64, False),
                7: ("has_functions", BOOL, False), 8: ("has_filenames", BOOL, False),
                9: ("has_line_numbers", BOOL, False), 10: ("has_inline_frames", BOOL, False)},
    "Line": {1: ("function_id", UINT64, False), 2: ("line", INT64, False), 3: ("column", INT64, False)},
    "Location": {1: ("id", UINT64, False), 2: ("mapping_id", UINT64, False), 3: ("address", UINT64, False),
                 4: ("line", "Line", True), 5: ("is_folded", BOOL, False)},
    "Function": {1: ("id", UINT64, False), 2: ("name", INT64, False), 3: ("system_name", INT64, False),
                 4: ("filename", INT64, False), 5: ("start_line", INT64, False)},
    "Profile": {1: ("sample_type", "ValueType", True), 2: ("sample", "Sample", True), 3: ("mapping", "Mapping", True),
                4: ("location", "Location", True), 5: ("function", "Function", True),
                6: ("string_table", STRING, True), 7: ("drop_frames", INT64, False), 8: ("keep_frames", INT64, False),
                9: ("time_nanos", INT64, False), 10: ("duration_nanos", INT64, False),
                11: ("period_type", "ValueType", False), 12: ("period", INT64, False), 13: ("comment", INT64, True),
                14: ("default_sample_type", INT64, False), 15: ("doc_url", INT64, False)},
}


def message_classes(package, messages):
    """{name: class} of messages as above"""
    file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto3")
    for name, fields in messages.items():
        message = file.message_type.add(name=name)
        for number, (field, kind, repeated) in fields.items():
            added = message.field.add(name=field, number=number, label=3 if repeated else 1)
            added.type = MESSAGE if isinstance(kind, str) else kind
            if isinstance(kind, str):
                added.type_name = f".{package}.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}")) for name in messages}


def profile_class():
    return message_classes("pprof", MESSAGES)["Profile"]


def decode(data):
    """The message, after the checks that pprof itself makes of one."""
    profile = profile_class()()
    profile.ParseFromString(data)
    assert profile.string_table[0] == ""
    locations = {each.id: each for each in profile.location}
    functions = {each.id for each in profile.function}
    mappings = {each.id for each in profile.mapping}
    assert 0 not in locations and 0 not in functions and 0 not in mappings
    assert len(locations) == len(profile.location) and len(functions) == len(profile.function)
    for location in profile.location:
        assert location.mapping_id in mappings
        assert all(line.function_id in functions for line in location.line)
    for sample in profile.sample:
        assert len(sample.value) == len(profile.sample_type)
        assert all(each in locations for each in sample.location_id)
    return profile


def samples(profile):
    """[(frames from outermost, labels, values)], frames as (name, file, line)."""
    text = profile.string_table
    functions = {each.id: each for each in profile.function}
    locations = {each.id: each for each in profile.location}
    found = []
    for sample in profile.sample:
        frames = []
        for identity in reversed(sample.location_id):
            for line in reversed(locations[identity].line):
                function = functions[line.function_id]
                frames.append((text[function.name], text[function.filename], line.line))
        labels = {text[each.key]: text[each.str] if each.str else each.num for each in sample.label}
        found.append((tuple(frames), tuple(sorted(labels.items())), list(sample.value)))
    return found


def stacks(profile):
    """{(frames, labels): values}"""
    found = {}
    for frames, labels, values in samples(profile):
        assert (frames, labels) not in found, "two samples of one stack and labels"
        found[frames, labels] = values
    return found
