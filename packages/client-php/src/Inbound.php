<?php

declare(strict_types=1);

namespace Waybill;

/**
 * Reads mail that came in.
 *
 * @phpstan-import-type Acknowledgement from Types
 * @phpstan-import-type InboundEmail from Types
 * @phpstan-import-type InboundEmailDeleted from Types
 * @phpstan-import-type InboundEmailPage from Types
 * @phpstan-import-type InboundEmailWhole from Types
 * @phpstan-import-type InboundQuery from Types
 * @phpstan-import-type InboundReply from Types
 * @phpstan-import-type InboundTest from Types
 */
final class Inbound
{
    private const LARGEST_PAGE = 100;

    public readonly Routes $routes;

    public function __construct(private readonly Sender $sender)
    {
        $this->routes = new Routes($sender);
    }

    /**
     * @param InboundQuery $query
     * @return InboundEmailPage
     */
    public function list(array $query = []): array
    {
        return $this->sender->call('GET /v1/inbound', query: $query);
    }

    /**
     * Iterates over all matching mail, newest first.
     *
     * @param InboundQuery $query
     * @return \Generator<int, InboundEmail, void, void>
     */
    public function all(array $query = []): \Generator
    {
        $query += ['limit' => self::LARGEST_PAGE];
        do {
            $page = $this->list($query);
            foreach ($page['data'] as $mail) {
                yield $mail;
            }
            $query['after'] = $page['next_cursor'];
        } while ($page['has_more'] && $page['next_cursor'] !== null);
    }

    /**
     * Returns a mail with its texts and headers.
     *
     * @return InboundEmailWhole
     */
    public function get(string $id): array
    {
        return $this->sender->call('GET /v1/inbound/{id}', [$id]);
    }

    /** Returns a mail as it came. */
    public function raw(string $id): string
    {
        return $this->sender->call('GET /v1/inbound/{id}/raw', [$id], binary: true);
    }

    /** Returns the bytes of a file. */
    public function attachment(string $id, string $attachment): string
    {
        return $this->sender->call('GET /v1/inbound/{id}/attachments/{attachment}', [$id, $attachment], binary: true);
    }

    /**
     * Like `emails->receipt`, of a received mail.
     *
     * @param list<string> $redact Fields to hide
     */
    public function receipt(string $id, array $redact = []): string
    {
        $query = $redact === [] ? [] : ['redact' => $redact];
        return $this->sender->call('GET /v1/inbound/{id}/receipt', [$id], $query, binary: true);
    }

    /**
     * Deletes a mail with its content.
     *
     * @return InboundEmailDeleted
     */
    public function remove(string $id): array
    {
        return $this->sender->call('DELETE /v1/inbound/{id}', [$id]);
    }

    /**
     * Lets a made-up mail come in. `raw` and the content of files are in base64.
     *
     * @param InboundTest $mail
     * @return InboundEmail
     */
    public function test(array $mail, ?string $idempotencyKey = null): array
    {
        return $this->sender->call('POST /v1/test/inbound', body: $mail, idempotencyKey: $idempotencyKey);
    }

    /**
     * Applies the routes again as if the mail had just come, and calls the webhooks.
     *
     * @return InboundEmail
     */
    public function replay(string $id, ?string $idempotencyKey = null): array
    {
        return $this->sender->call('POST /v1/inbound/{id}/replay', [$id], idempotencyKey: $idempotencyKey);
    }

    /**
     * Sends an answer, whose recipient, subject and thread follow from the mail.
     *
     * @param InboundReply $reply
     * @return Acknowledgement
     */
    public function reply(string $id, array $reply, ?string $idempotencyKey = null): array
    {
        return $this->sender->call('POST /v1/inbound/{id}/reply', [$id], [], $reply, $idempotencyKey);
    }

    /**
     * Sends a received mail on as it came.
     *
     * @param string|list<string> $to
     * @return Acknowledgement
     */
    public function forward(string $id, string|array $to, ?string $idempotencyKey = null): array
    {
        return $this->sender->call('POST /v1/inbound/{id}/forward', [$id], [], ['to' => $to], $idempotencyKey);
    }
}
