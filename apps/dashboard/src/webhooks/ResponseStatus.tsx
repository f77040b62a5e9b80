import { Badge } from "../ui/display/Badge.tsx"

export const isSuccessful = (status: number | null): boolean => status !== null && status >= 200 && status < 300

/** Status code of an endpoint's response. */
export const ResponseStatus = ({ status }: { readonly status: number | null }) => (
  <Badge tone={isSuccessful(status) ? "good" : "bad"}>{status ?? "No response"}</Badge>
)
