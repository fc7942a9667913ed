# SPDX-License-Identifier: Apache-2.0
"""The tables of the comparison."""

def cell(found):
    if found is None:
        return "–"
    rate = found["requests"] / found["microseconds"] * 1e6
    text = f"{rate:,.0f} ({found['p50'] / 1e3:.2f}, {found['p99'] / 1e3:.2f}) {found['processor']:,.0f}"
    return text + (f", {found['failed']} failed" if found["failed"] else "")


def table(rows, names, alone, options, busy):
    title = {"apus": "Apus", "triton": "Triton 2.51", "mlserver": "MLServer 1.7"}
    lines = [
        f"Requests per second (median and 99th percentile of latency in milliseconds) and the server's processor time for a "
        f"request in microseconds, on {processor()}: the server on one processor, the load on the other, {options.seconds} seconds each. "
        f"Load of the machine before: {busy}. The last column has the quotients of requests per second and of processor time."
        + (f" {options.note}" if options.note else ""), "",
        "| Model | Protocol | Clients | " + " | ".join(title[name] for name in names) + " | Apus ÷ Triton |",
        "|---|---|--:|" + "--:|" * (len(names) + 1)]
    for row in rows:
        both = [row["found"].get(name) for name in ("apus", "triton")]
        ratio = "–"
        if None not in both:
            rates = [found["requests"] / found["microseconds"] for found in both]
            ratio = f"{rates[0] / rates[1]:.2f}, {both[0]['processor'] / both[1]['processor']:.2f}"
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
