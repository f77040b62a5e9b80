import { useQuery } from "@tanstack/react-query"
import * as Queries from "../api/Queries.ts"
import { useHasScope } from "../session/useHasScope.ts"

/** Names of the account's newest templates by id; empty for users who may not see them. */
export const useTemplateNames = (): ReadonlyMap<string, string> => {
  const templates = useQuery({ ...Queries.templates, enabled: useHasScope("templates:read") })
  return new Map((templates.data?.data ?? []).map(({ id, name }) => [id as string, name as string]))
}
