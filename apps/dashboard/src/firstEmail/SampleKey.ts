import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import * as Api from "../api/Api.ts"
import * as Mode from "../api/Mode.ts"
import * as Queries from "../api/Queries.ts"
import type { CreatedApiKey } from "../api/Records.ts"

const QUERY_KEY = ["sample-key"]
const NAME = "First steps"

/** The key that was created for code examples since the page was opened. It is in memory only and gone at sign-out. */
export const useKey = (): string | undefined =>
  useQuery<string | undefined>({
    queryKey: QUERY_KEY,
    enabled: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
    queryFn: () => undefined,
  }).data

/** Creates a key that can send, for code that can be run as it is shown. */
export const useCreate = () => {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () =>
      Api.post<CreatedApiKey>("/api-keys", {
        name: NAME,
        scopes: ["email:send"],
        mode: Mode.isTest() ? "test" : "live",
      }),
    onSuccess: ({ key }) => {
      client.setQueryData(QUERY_KEY, key)
      void client.invalidateQueries({ queryKey: Queries.apiKeys.queryKey })
    },
  })
}
