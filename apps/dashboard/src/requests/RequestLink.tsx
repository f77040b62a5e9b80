import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import * as Queries from "../api/Queries.ts"

/** Link to a request, while the request log has it. Mail over SMTP has a request id too, and no request. */
export const RequestLink = ({ id }: { readonly id: string }) => {
  const { data: request } = useQuery({ ...Queries.request(id), retry: false })
  return request === undefined ? undefined : (
    <Link to="/requests/$id" params={{ id }} className="text-accent hover:underline">
      {request.method} {request.path}
    </Link>
  )
}
