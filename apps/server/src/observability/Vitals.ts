import { Context, Effect, Metric } from "effect"
import { monitorEventLoopDelay, performance } from "node:perf_hooks"
import { VERSION } from "../boot/Version.ts"

/** How finely the delay of the event loop is looked at; each look is a timer of the engine's own. */
const RESOLUTION_MS = 20
const NANOS = 1e9
const MICROS = 1e6
const NOWHERE = Context.empty()

const gauge = (name: string, description: string) => Metric.gauge(name, { description })
const delay = gauge("nodejs_eventloop_delay_seconds", "Delay of the event loop since the look before, by quantile")
const delays = [
  ["0.5", 50],
  ["0.99", 99],
  ["1", 100],
] as const
const quantiles = delays.map(([quantile, percent]) => [Metric.withAttributes(delay, { quantile }), percent] as const)
const utilization = gauge("nodejs_eventloop_utilization", "Share of the time since the look before that was not idle")
const cpu = Metric.counter("process_cpu_seconds_total", { description: "Processor time of this process" })
const resident = gauge("process_resident_memory_bytes", "Memory of this process")
const heap = gauge("nodejs_heap_used_bytes", "Memory of its JavaScript objects")
const external = gauge("nodejs_external_memory_bytes", "Memory of its buffers")
const handles = gauge("process_open_handles", "Sockets, timers and files that keep this process going")
const build = Metric.withAttributes(gauge("waybill_build_info", "1, with the release and the engine that runs it"), {
  version: VERSION,
  node: process.version,
})

/** Reads the process's own state into its gauges, each time it is run. */
export const make = Effect.gen(function* () {
  const histogram = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const monitor = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
      monitor.enable()
      return monitor
    }),
    (monitor) => Effect.sync(() => monitor.disable()),
  )
  let before = performance.eventLoopUtilization()
  let spent = 0
  return Effect.sync(() => {
    for (const [metric, percent] of quantiles) {
      // The monitor counts its own period as delay.
      const nanos = histogram.count === 0 ? 0 : histogram.percentile(percent) - RESOLUTION_MS * MICROS
      metric.updateUnsafe(Math.max(0, nanos) / NANOS, NOWHERE)
    }
    histogram.reset()
    const now = performance.eventLoopUtilization()
    utilization.updateUnsafe(performance.eventLoopUtilization(now, before).utilization, NOWHERE)
    before = now
    const { system, user } = process.cpuUsage()
    cpu.updateUnsafe((system + user - spent) / MICROS, NOWHERE)
    spent = system + user
    const memory = process.memoryUsage()
    resident.updateUnsafe(memory.rss, NOWHERE)
    heap.updateUnsafe(memory.heapUsed, NOWHERE)
    external.updateUnsafe(memory.external, NOWHERE)
    handles.updateUnsafe(process.getActiveResourcesInfo().length, NOWHERE)
    build.updateUnsafe(1, NOWHERE)
  })
})
