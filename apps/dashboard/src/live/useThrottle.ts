import { useCallback, useEffect, useRef, useState } from "react"
import { ApiError } from "../api/ApiError.ts"
import { type Options, throttle, type Throttle } from "./throttle.ts"

const pauseAfter = (error: unknown): number | undefined => {
  const seconds = error instanceof ApiError ? error.pauseSeconds : undefined
  return seconds === undefined ? undefined : seconds * 1_000
}

/** Throttles `run` as long as the component is mounted. */
export const useThrottle = (
  run: Options["run"],
  { debounce_ms, interval_ms }: Pick<Options, "debounce_ms" | "interval_ms">,
) => {
  const [isRateLimited, setRateLimited] = useState(false)
  const latestRun = useRef(run)
  useEffect(() => {
    latestRun.current = run
  })
  const current = useRef<Throttle | undefined>(undefined)
  useEffect(() => {
    const created = throttle({
      run: () => latestRun.current(),
      interval_ms,
      debounce_ms,
      pauseAfter,
      onRateLimited: setRateLimited,
    })
    current.current = created
    return created.stop
  }, [debounce_ms, interval_ms])
  return { trigger: useCallback(() => current.current?.trigger(), []), isRateLimited }
}
