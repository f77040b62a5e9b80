import { useMutation, useQueryClient } from "@tanstack/react-query"
import * as Api from "../api/Api.ts"
import * as Queries from "../api/Queries.ts"
import { useSession } from "../session/useSession.ts"
import { useVerifiedDomain } from "../session/useVerifiedDomain.ts"

/** Sends an email to the signed-in user from the first verified domain; `undefined` while there is none. */
export const useSendTest = () => {
  const client = useQueryClient()
  const { user } = useSession()
  const domain = useVerifiedDomain()
  const send = useMutation({
    mutationFn: () =>
      Api.post<{ readonly id: string }>("/email/send", {
        from: `Waybill <hello@${domain ?? ""}>`,
        to: user.email,
        subject: "Your first email with Waybill",
        html: "<h1>It works</h1><p>This email was accepted, signed and handed over. Its timeline shows each step.</p>",
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: Queries.recentEmails.queryKey }),
  })
  return domain === undefined ? undefined : send
}
