# The commands a person needs; Meson and ninja do the work.
BUILD := build

.PHONY: all build clean

all: build

$(BUILD)/build.ninja:
	meson setup $(BUILD)

# New and removed sources are noticed by their list, so that no file has to be named twice.
build: $(BUILD)/build.ninja
	@find src tests/unit fuzz -name '*.[ch]' -o -name '*.def' | sort > $(BUILD)/.sources.new
	@cmp -s $(BUILD)/.sources.new $(BUILD)/.sources || { meson setup --reconfigure $(BUILD) > /dev/null && mv $(BUILD)/.sources.new $(BUILD)/.sources; }
	ninja -C $(BUILD)

clean:
	rm -rf $(BUILD)
