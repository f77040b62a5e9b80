import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import * as Queries from "../api/Queries.ts"
import type { Request } from "../api/Records.ts"

/** Returns the request of an email while the request log has it. Mail over SMTP has a request id too, and no request. */
export const useRequest = (id: string | null): Request | undefined =>
  useQuery({ ...Queries.request(id ?? ""), enabled: id !== null, retry: false }).data

export const RequestLink = ({ request: { id, method, path } }: { readonly request: Request }) => (
  <Link to="/requests/$id" params={{ id }} className="link">
    {method} {path}
  </Link>
)
