"""Start threads with their own names."""

import threading

never = threading.Event()
for name in ("worker one", "größe", "名前"):
    threading.Thread(target=never.wait, name=name, daemon=True).start()
print("ready", flush=True)
never.wait()
