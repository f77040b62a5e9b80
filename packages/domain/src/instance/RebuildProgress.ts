/** Progress of a rebuild that is running, on any node or the command line, or was left unfinished. */
export interface RebuildProgress {
  readonly name: string
  /** `null` during a comparison or a swap, which builds nothing. */
  readonly version: number | null
  /** Whether a process is working on it now. */
  readonly working: boolean
  readonly phase: "folding" | "indexing" | "comparing"
  readonly events: number
  /** Estimated number of events in the log for this read model. */
  readonly total: number
  readonly slices: number
  readonly slices_done: number
}
