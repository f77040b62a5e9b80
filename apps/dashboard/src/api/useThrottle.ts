import { useCallback, useEffect, useRef, useState } from "react"
import { type Pace, type Paced, paced } from "./throttle.ts"
import { Refused } from "./Api.ts"

/** Where the server refuses by its window and gives no time. */
const WINDOW_S = 60

const heldFor = (error: unknown): number | undefined =>
  error instanceof Refused && error.status === 429 ? (error.retryAfterSeconds ?? WINDOW_S) * 1_000 : undefined

/** Paced work of a screen, as long as that is shown. */
export const usePaced = (work: Pace["work"], { every_ms, gather_ms }: Pick<Pace, "every_ms" | "gather_ms">) => {
  const [isHeld, setHeld] = useState(false)
  const newest = useRef(work)
  useEffect(() => {
    newest.current = work
  })
  const current = useRef<Paced | undefined>(undefined)
  useEffect(() => {
    const made = paced({ work: () => newest.current(), every_ms, gather_ms, heldFor, onHeld: setHeld })
    current.current = made
    return made.stop
  }, [every_ms, gather_ms])
  return { ask: useCallback(() => current.current?.ask(), []), isHeld }
}
