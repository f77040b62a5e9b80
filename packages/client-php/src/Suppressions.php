<?php

declare(strict_types=1);

namespace Waybill;

/**
 * Manages the addresses that get no mail.
 *
 * @phpstan-import-type Suppression from Types
 * @phpstan-import-type SuppressionAddition from Types
 * @phpstan-import-type SuppressionBatch from Types
 * @phpstan-import-type SuppressionBatchAnswer from Types
 * @phpstan-import-type SuppressionPage from Types
 * @phpstan-import-type SuppressionRemoved from Types
 * @phpstan-import-type SuppressionsQuery from Types
 */
final class Suppressions
{
    private const LARGEST_PAGE = 100;

    public function __construct(private readonly Sender $sender)
    {
    }

    /**
     * @param SuppressionsQuery $query
     * @return SuppressionPage
     */
    public function list(array $query = []): array
    {
        return $this->sender->call('GET /v1/suppressions', query: $query);
    }

    /**
     * Iterates over all matching suppressions.
     *
     * @param SuppressionsQuery $query
     * @return \Generator<int, Suppression, void, void>
     */
    public function all(array $query = []): \Generator
    {
        $query += ['limit' => self::LARGEST_PAGE];
        do {
            $page = $this->list($query);
            foreach ($page['data'] as $suppression) {
                yield $suppression;
            }
            $query['after'] = $page['next_cursor'];
        } while ($page['has_more'] && $page['next_cursor'] !== null);
    }

    /** @return Suppression */
    public function get(string $email): array
    {
        return $this->sender->call('GET /v1/suppressions/{email}', [$email]);
    }

    /**
     * @param SuppressionAddition $suppression
     * @return Suppression
     */
    public function add(array $suppression, ?string $idempotencyKey = null): array
    {
        return $this->sender->call('POST /v1/suppressions', body: $suppression, idempotencyKey: $idempotencyKey);
    }

    /**
     * Adds or removes up to 1,000 addresses. A text that is not an address is rejected alone.
     *
     * @param SuppressionBatch $batch
     * @return SuppressionBatchAnswer
     */
    public function batch(array $batch, ?string $idempotencyKey = null): array
    {
        return $this->sender->call('POST /v1/suppressions/batch', body: $batch, idempotencyKey: $idempotencyKey);
    }

    /** @return SuppressionRemoved */
    public function remove(string $email): array
    {
        return $this->sender->call('DELETE /v1/suppressions/{email}', [$email]);
    }
}
