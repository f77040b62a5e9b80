import { useSuspenseQuery } from "@tanstack/react-query"
import * as queries from "../api/Queries.ts"
import type { Scope } from "../api/Records.ts"
import { permits } from "./Navigation.ts"

/** Inside the shell somebody is signed in, always. */
export const useSession = () => useSuspenseQuery(queries.session).data

export const useMay = (scope: Scope): boolean => permits(useSession().may.scopes, scope)
