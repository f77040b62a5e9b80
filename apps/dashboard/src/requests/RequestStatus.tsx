import { Badge, type Tone } from "../ui/display/Badge.tsx"

const toneOf = (status: number): Tone => (status < 400 ? "good" : status < 500 ? "warn" : "bad")

export const RequestStatus = ({ status }: { readonly status: number | null }) =>
  status === null ? <Badge>No response</Badge> : <Badge tone={toneOf(status)}>{status}</Badge>
