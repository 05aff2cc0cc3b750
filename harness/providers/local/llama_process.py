"""The process that runs llama.cpp's server for one embedded model. Started as a script by
`harness.providers.local.server`.

Owns the server's parameters. Stands alone: it imports nothing of this project, so that it runs isolated from the
caller's folder. Takes its settings as one JSON object, reports its address in one JSON line, and ends when its standard
input closes, which happens however the parent ends.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from typing import Any

_LINUX_SET_PARENT_DEATH_SIGNAL = 1


def main() -> None:
    settings = json.loads(sys.argv[1])
    _end_with_parent()
    # The address goes to the caller's pipe; whatever native code prints goes where the caller sent standard error.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    try:
        server = _start(settings)
    except Exception as error:  # native code raises what it likes; the caller reports it
        answer = {"error": f"{type(error).__name__}: {error}"}
    else:
        answer = {"base_url": server.listening_address}
    answers.write(json.dumps(answer) + "\n")
    answers.flush()
    if "error" in answer:
        os._exit(1)
    threading.Event().wait()


def _start(settings: dict[str, Any]) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["weights"]
    params.model_alias = {settings["alias"]}  # else answers would name the file's path
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = settings["slots"]
    params.n_ctx = settings["slots"] * settings["context_tokens"]
    # By default one: several spin while they wait for each other, which on shared cores is 6-10 times slower.
    params.cpuparams.n_threads = settings["threads"]
    params.cpuparams_batch.n_threads = settings["threads"]
    params.n_threads_http = settings["slots"] + 2
    if settings["exact"]:
        # One token at a time, also of the prompt. Larger batches use other kernels, whose sums differ in the last bit,
        # so that a text would depend on how much of its prompt was in the cache and on what the other slots were doing.
        # Flash attention gains nothing for one token; without it, prompts are read faster.
        params.n_ubatch = 1
        params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    params.cache_prompt = True
    params.cache_ram_mib = 256  # the default is 8 GiB
    params.sampling.seed = 0
    params.ctx_shift = False  # a prompt that is too long is refused, never cut at the front
    params.warmup = False
    params.ui = False
    params.endpoint_slots = False
    params.verbosity = 0
    return xllamacpp.Server(params)


def _end_with_parent() -> None:
    """Two guards: the pipe works everywhere; the signal also while native code keeps every Python thread waiting."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_LINUX_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)

    def watch() -> None:
        sys.stdin.buffer.read()
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    main()
