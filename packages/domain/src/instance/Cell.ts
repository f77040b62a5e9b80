/** A cell as operators see it. What only the cell itself knows is `null` if it does not answer. */
export interface Cell {
  readonly name: string
  readonly state: "open" | "full" | "draining"
  /** Server that it lies on, if it is a node of Citus or one of its own. */
  readonly node: string | null
  readonly accounts: number | null
  /** Recipients accepted by its accounts in all months. */
  readonly emails: number | null
  readonly bytes: number | null
  /** Positions of the log between its slowest follower and its last event. */
  readonly lag: number | null
  /** Events per second in the last seconds. */
  readonly per_second: number | null
  /** Rows of the outbox that are due and wait. */
  readonly waiting: number | null
}
