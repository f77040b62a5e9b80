import { useSuspenseQuery } from "@tanstack/react-query"
import * as Queries from "../api/Queries.ts"

/** The signed-in user and their session. The shell renders only when somebody is signed in. */
export const useSession = () => useSuspenseQuery(Queries.session).data
