import { useInfiniteQuery } from "@tanstack/react-query"
import { useMemo } from "react"
import * as Queries from "../api/Queries.ts"
import { useHasScope } from "../session/useHasScope.ts"

/** Returns who added an address, by its text: the names of the newest changes by keys and members. */
export const useAddedBy = (): ReadonlyMap<string, string> => {
  const { data } = useInfiniteQuery({ ...Queries.audit({ stream: "suppression" }), enabled: useHasScope("admin") })
  return useMemo(
    () =>
      new Map(
        // The newest change of an address comes first, and is to stay.
        (data?.pages ?? [])
          .flatMap((page) => page.data)
          .toReversed()
          .flatMap(({ actor, actor_name, target_name, type }) =>
            type === "suppression.added" && target_name !== null
              ? [[target_name, actor_name ?? (actor.type === "operator" ? "Operator" : "–")] as const]
              : [],
          ),
      ),
    [data],
  )
}
