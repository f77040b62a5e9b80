import { useSuspenseQuery } from "@tanstack/react-query"
import * as queries from "../api/queries.ts"
import type { Scope } from "../api/records.ts"
import { permits } from "./places.ts"

/** Inside the shell somebody is signed in, always. */
export const useSession = () => useSuspenseQuery(queries.session).data

export const useMay = (scope: Scope): boolean => permits(useSession().may.scopes, scope)
