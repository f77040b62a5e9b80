<?php

declare(strict_types=1);

namespace Waybill;

/**
 * Sends mail.
 *
 * @phpstan-import-type Acknowledgement from Types
 * @phpstan-import-type BatchAnswer from Types
 * @phpstan-import-type EmailLog from Types
 * @phpstan-import-type EmailLogWithContent from Types
 * @phpstan-import-type EmailMessage from Types
 * @phpstan-import-type TemplatedMessage from Types
 */
final class Emails
{
    public function __construct(private readonly Sender $sender)
    {
    }

    /**
     * Sends an email. One without `html`, `text` and `template` is accepted, and arrives empty.
     *
     * @param EmailMessage|TemplatedMessage $email
     * @return Acknowledgement
     */
    public function send(array $email, ?string $idempotencyKey = null): array
    {
        return $this->sender->call('POST /v1/email/send', body: $email, idempotencyKey: $idempotencyKey);
    }

    /**
     * Sends up to 100 emails. In `permissive` mode each is accepted or refused separately.
     *
     * @param list<EmailMessage|TemplatedMessage> $emails
     * @param 'all_or_nothing'|'permissive' $mode
     * @return BatchAnswer
     */
    public function sendBatch(array $emails, string $mode = 'all_or_nothing', ?string $idempotencyKey = null): array
    {
        $body = ['emails' => $emails, 'mode' => $mode];
        return $this->sender->call('POST /v1/email/send/batch', body: $body, idempotencyKey: $idempotencyKey);
    }

    /**
     * Like `logs->get`, also for a key that may only send; it sees the content of mail that it sent itself.
     *
     * @return EmailLogWithContent
     */
    public function get(string $id, \DateTimeInterface|string|null $asOf = null): array
    {
        return $this->sender->call('GET /v1/email/{id}', [$id], ['as_of' => $asOf]);
    }

    /** @return EmailLog */
    public function cancel(string $id, ?string $idempotencyKey = null): array
    {
        return $this->sender->call('POST /v1/email/{id}/cancel', [$id], idempotencyKey: $idempotencyKey);
    }

    /** @return EmailLog */
    public function reschedule(string $id, \DateTimeInterface|string $scheduledAt): array
    {
        return $this->sender->call('PATCH /v1/email/{id}', [$id], body: ['scheduled_at' => $scheduledAt]);
    }

    /** @return Acknowledgement */
    public function resend(string $id, ?string $idempotencyKey = null): array
    {
        return $this->sender->call('POST /v1/email/{id}/resend', [$id], idempotencyKey: $idempotencyKey);
    }
    /**
     * Returns what happened to the email as JSON with a proof that anybody can check.
     *
     * @param list<string> $redact Fields to hide
     */
    public function receipt(string $id, array $redact = []): string
    {
        $query = $redact === [] ? [] : ['redact' => $redact];
        return $this->sender->call('GET /v1/email/{id}/receipt', [$id], $query, binary: true);
    }
}
