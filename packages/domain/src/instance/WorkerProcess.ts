/** A process with a worker, as operators see it. */
export interface WorkerProcess {
  readonly id: string
  readonly started_at: string
  readonly beat_at: string
  /** Whether its heartbeat is recent. Other processes take over the work of a process that is not alive. */
  readonly alive: boolean
  /** Number of rows that it has leased. */
  readonly leases: number
}
