import { useEffect, useState } from "react"

/** Emails that are selected in the list. */
export interface Selection {
  readonly ids: ReadonlySet<string>
  readonly toggle: (id: string) => void
  readonly set: (ids: ReadonlyArray<string>) => void
}

/** Holds the selected emails of a list. Another search begins without any. */
export const useSelection = (search: string): Selection => {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  useEffect(() => setIds(new Set()), [search])
  return {
    ids,
    toggle: (id) =>
      setIds((current) => new Set(current.has(id) ? [...current].filter((each) => each !== id) : [...current, id])),
    set: (next) => setIds(new Set(next)),
  }
}
