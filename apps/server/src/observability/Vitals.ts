import { Context, Effect, Metric } from "effect"
import { monitorEventLoopDelay, performance } from "node:perf_hooks"
import * as Version from "../process/Version.ts"

/** Resolution at which the delay of the event loop is measured, by a timer of Node. */
const RESOLUTION_MS = 20
const NANOS = 1e9
const MICROS = 1e6
const EMPTY = Context.empty()

const gauge = (name: string, description: string) => Metric.gauge(name, { description })
const delay = gauge("nodejs_eventloop_delay_seconds", "Delay of the event loop since the previous scrape, by quantile")
const delays = [
  ["0.5", 50],
  ["0.99", 99],
  ["1", 100],
] as const
const quantiles = delays.map(([quantile, percent]) => [Metric.withAttributes(delay, { quantile }), percent] as const)
const utilization = gauge(
  "nodejs_eventloop_utilization",
  "Share of the time since the previous scrape in which the event loop was busy",
)
const cpu = Metric.counter("process_cpu_seconds_total", { description: "CPU time of this process" })
const resident = gauge("process_resident_memory_bytes", "Resident memory of this process")
const heap = gauge("nodejs_heap_used_bytes", "Memory of JavaScript objects")
const external = gauge("nodejs_external_memory_bytes", "Memory of buffers outside the heap")
const handles = gauge("process_open_handles", "Open sockets, timers and files that keep this process running")
const build = Metric.withAttributes(gauge("waybill_build_info", "1, with the versions of Waybill and Node as labels"), {
  version: Version.VERSION,
  node: process.version,
})

/** Reads the state of the process into its gauges. */
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
      metric.updateUnsafe(Math.max(0, nanos) / NANOS, EMPTY)
    }
    histogram.reset()
    const now = performance.eventLoopUtilization()
    utilization.updateUnsafe(performance.eventLoopUtilization(now, before).utilization, EMPTY)
    before = now
    const { system, user } = process.cpuUsage()
    cpu.updateUnsafe((system + user - spent) / MICROS, EMPTY)
    spent = system + user
    const memory = process.memoryUsage()
    resident.updateUnsafe(memory.rss, EMPTY)
    heap.updateUnsafe(memory.heapUsed, EMPTY)
    external.updateUnsafe(memory.external, EMPTY)
    handles.updateUnsafe(process.getActiveResourcesInfo().length, EMPTY)
    build.updateUnsafe(1, EMPTY)
  })
})
