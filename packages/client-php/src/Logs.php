<?php

declare(strict_types=1);

namespace Waybill;

/**
 * Reads what happened to mail.
 *
 * @phpstan-import-type EmailLog from Types
 * @phpstan-import-type EmailLogPage from Types
 * @phpstan-import-type EmailLogWithContent from Types
 * @phpstan-import-type EventPage from Types
 * @phpstan-import-type LogsQuery from Types
 */
final class Logs
{
    private const LARGEST_PAGE = 100;

    public function __construct(private readonly Sender $sender)
    {
    }

    /**
     * @param LogsQuery $query
     * @return EmailLogPage
     */
    public function list(array $query = []): array
    {
        return $this->sender->call('GET /v1/email/logs', query: $query);
    }

    /**
     * Iterates over all matching messages, newest first; with `before`, from that message towards newer ones. Reads
     * each page only when needed. `limit` is the size of a page.
     *
     * @param LogsQuery $query
     * @return \Generator<int, EmailLog, void, void>
     */
    public function all(array $query = []): \Generator
    {
        $query += ['limit' => self::LARGEST_PAGE];
        $isForward = isset($query['before']);
        do {
            $page = $this->list($query);
            foreach ($isForward ? array_reverse($page['data']) : $page['data'] as $email) {
                yield $email;
            }
            $query[$isForward ? 'before' : 'after'] = $page['next_cursor'];
        } while ($page['has_more'] && $page['next_cursor'] !== null);
    }

    /**
     * With a time, returns the record as it was then.
     *
     * @return EmailLogWithContent
     */
    public function get(string $id, \DateTimeInterface|string|null $asOf = null): array
    {
        return $this->sender->call('GET /v1/email/logs/{id}', [$id], ['as_of' => $asOf]);
    }

    /**
     * Returns the timeline: all events of the message.
     *
     * @return EventPage
     */
    public function events(string $id): array
    {
        return $this->sender->call('GET /v1/email/logs/{id}/events', [$id]);
    }
}
