"""OpenTelemetry's profiles, by the messages of the package opentelemetry-proto, which knows nothing of this project."""

from opentelemetry.proto.collector.profiles.v1development import profiles_service_pb2 as service
from opentelemetry.proto.profiles.v1development import profiles_pb2 as profiles

START_NS = 1_700_000_000_000_000_000


class Message:
    """Collects a request; the tables begin with their empty entries, as the protocol wants."""

    def __init__(self):
        self.request = service.ExportProfilesServiceRequest()
        self.tables = self.request.dictionary
        self.tables.string_table.append("")
        for table, kind in ((self.tables.mapping_table, profiles.Mapping), (self.tables.location_table, profiles.Location),
                            (self.tables.function_table, profiles.Function), (self.tables.link_table, profiles.Link),
                            (self.tables.attribute_table, profiles.KeyValueAndUnit), (self.tables.stack_table, profiles.Stack)):
            table.append(kind())

    def bytes(self):
        return self.request.SerializeToString()

    def string(self, text):
        return self.entry(self.tables.string_table, text)

    @staticmethod
    def entry(table, item):
        """The number of an item, which is added when it is new."""
        for number, known in enumerate(table):
            if known == item:
                return number
        table.append(item)
        return len(table) - 1

    def attribute(self, name, value):
        item = profiles.KeyValueAndUnit(key_strindex=self.string(name))
        set_value(item.value, value)
        return self.entry(self.tables.attribute_table, item)

    def location(self, *lines, kind=None, address=0, mapping=""):
        """Lines are (function, file, line), the innermost first."""
        item = profiles.Location(address=address)
        if mapping:
            item.mapping_index = self.entry(self.tables.mapping_table, profiles.Mapping(filename_strindex=self.string(mapping)))
        for function, file, line in lines:
            known = profiles.Function(name_strindex=self.string(function), filename_strindex=self.string(file))
            item.lines.add(function_index=self.entry(self.tables.function_table, known), line=line)
        if kind:
            item.attribute_indices.append(self.attribute("profile.frame.type", kind))
        return self.entry(self.tables.location_table, item)

    def stack(self, *locations):
        """Locations from the innermost on."""
        return self.entry(self.tables.stack_table, profiles.Stack(location_indices=locations))

    def resource(self, **attributes):
        """Names have __ for a dot. Profiles are added to what this returns."""
        item = self.request.resource_profiles.add()
        for name, value in attributes.items():
            set_value(item.resource.attributes.add(key=name.replace("__", ".")).value, value)
        scope = item.scope_profiles.add()
        scope.scope.name = "test"
        return scope

    def profile(self, scope, kind, unit, period=None):
        """`period` is (type, unit, number)."""
        item = scope.profiles.add(time_unix_nano=START_NS, duration_nano=10_000_000_000)
        item.sample_type.type_strindex, item.sample_type.unit_strindex = self.string(kind), self.string(unit)
        if period:
            item.period_type.type_strindex, item.period_type.unit_strindex = self.string(period[0]), self.string(period[1])
            item.period = period[2]
        return item

    def sample(self, profile, stack, values=(), times=(), **attributes):
        profile.samples.add(stack_index=stack, values=values, timestamps_unix_nano=[START_NS + each for each in times],
                            attribute_indices=[self.attribute(name.replace("__", "."), value) for name, value in attributes.items()])


def set_value(to, value):
    if isinstance(value, bool):
        to.bool_value = value
    elif isinstance(value, int):
        to.int_value = value
    elif isinstance(value, float):
        to.double_value = value
    elif isinstance(value, list):
        for each in value:
            set_value(to.array_value.values.add(), each)
    else:
        to.string_value = value


def service_message(**attributes):
    """One service: CPU time by a period and off-CPU time with times."""
    message = Message()
    scope = message.resource(**(attributes or {"service__name": "shop", "service__version": "1.2", "host__name": "node-1", "process__pid": 17}))
    main = message.location(("demo/Job.main", "Job.java", 3), kind="jvm")
    inlined = message.location(("demo/Row.hash", "Row.java", 9), ("demo/Job.fill", "Job.java", 7), kind="jvm")
    native = message.location(kind="native", address=0x1F0, mapping="/usr/lib/libc.so.6")
    kernel = message.location(("do_futex", "", 0), kind="kernel", mapping="[kernel.kallsyms]")
    cpu = message.profile(scope, "samples", "count", ("cpu", "nanoseconds", 10_000_000))
    message.sample(cpu, message.stack(inlined, main), [3], thread__name="main", thread__id=17)
    message.sample(cpu, message.stack(native, main), times=[1_000_000, 2_000_000], thread__name="pool-1", thread__id=18, cached=True)
    waits = message.profile(scope, "off_cpu", "nanoseconds")
    message.sample(waits, message.stack(kernel, main), [500, 700], [3_000_000, 4_000_000], thread__name="main")
    return message


def host_message(processes=3):
    """A host's profiler: a resource for each process; all share the tables."""
    message = Message()
    for number in range(1, processes + 1):
        scope = message.resource(process__pid=number, process__executable__name=f"program{number}", host__name="node-1", ratio=0.5, tags=["a"])
        profile = message.profile(scope, "cpu", "ns", ("cpu", "ns", 50_000_000))
        for step in range(2):
            location = message.location((f"work{number}_{step}", "work.py", step + 1), kind="cpython")
            message.sample(profile, message.stack(location, message.location(("main", "work.py", 1), kind="cpython")), [100_000_000], thread__name="t")
    return message
