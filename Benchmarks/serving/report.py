# SPDX-License-Identifier: Apache-2.0
"""The tables of the comparison."""

def cell(found):
    if found is None:
        return "–"
    rate = found["requests"] / found["microseconds"] * 1e6
    text = f"{rate:,.0f} ({found['p50'] / 1e3:.2f}, {found['p99'] / 1e3:.2f})"
    return text + (f", {found['failed']} failed" if found["failed"] else "")


def table(rows, names, alone, options, busy):
    title = {"apus": "Apus", "triton": "Triton 2.51", "mlserver": "MLServer 1.7"}
    lines = [
        f"Requests per second (median and 99th percentile of latency in milliseconds) on {processor()}: the server on one "
        f"processor, the load on the other, {options.seconds} seconds each. Load of the machine before: {busy}."
        + (f" {options.note}" if options.note else ""), "",
        "| Model | Protocol | Clients | " + " | ".join(title[name] for name in names) + " | Apus ÷ Triton |",
        "|---|---|--:|" + "--:|" * (len(names) + 1)]
    for row in rows:
        both = [row["found"].get(name) for name in ("apus", "triton")]
        ratio = "–" if None in both else "{:.2f}".format(both[0]["requests"] / both[0]["microseconds"]
                                                          / (both[1]["requests"] / both[1]["microseconds"]))
        lines.append(f"| {row['model']} | {row['protocol']} | {row['clients']} | "
                     + " | ".join(cell(row["found"].get(name)) for name in names) + f" | {ratio} |")
    lines += ["", "| Model | Inferences per second in process | Best of the server | Share |", "|---|--:|--:|--:|"]
    for model, rate in alone.items():
        best = max((row["found"]["apus"]["requests"] / row["found"]["apus"]["microseconds"] * 1e6
                    for row in rows if row["model"] == model and "apus" in row["found"]), default=0)
        lines.append(f"| {model} | {rate:,.0f} | {best:,.0f} | {100 * best / rate:.0f} % |")
    return "\n".join(lines) + "\n"


def processor():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "this machine"
