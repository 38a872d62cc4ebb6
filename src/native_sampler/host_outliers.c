#include "native_sampler/host_outliers.h"

#include <math.h>
#include <stdlib.h>

#define ALARM_CHANCE 0.05
#define MOST_HOSTS 1024
#define MAD_TO_DEVIATION 1.4826
#define VARIANCE_OF_MEDIAN (M_PI / 2)
#define BETA_STEPS 300
#define BETA_PRECISION 1e-14
/* A share that is 0 in each block shows no variance. */
#define LEAST_VARIANCE 1e-12

/* ---- Student's t ---- */

static double not_zero(double value)
{
    return fabs(value) < 1e-300 ? 1e-300 : value;
}

/* The continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), value = d;
    for (int i = 1; i <= BETA_STEPS; i++) {
        double even = i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i));
        double odd = -(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1));
        d = 1 / not_zero(1 + even * d);
        c = not_zero(1 + even / c);
        value *= d * c;
        d = 1 / not_zero(1 + odd * d);
        c = not_zero(1 + odd / c);
        value *= d * c;
        if (fabs(d * c - 1) < BETA_PRECISION)
            break;
    }
    return value;
}

static double incomplete_beta(double a, double b, double x)
{
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double student_two_sided(double t, double degrees)
{
    return incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

/* ---- shares ---- */

static double weight_of(const struct host_shares *shares, size_t host, size_t block, size_t feature)
{
    return shares->weights[(host * shares->block_count + block) * shares->feature_count + feature];
}

static double total_of(const struct host_shares *shares, size_t host, size_t block)
{
    return shares->totals[host * shares->block_count + block];
}

static void sum_up(const struct host_shares *shares, size_t host, size_t feature, double *weight,
                   double *total)
{
    *weight = *total = 0;
    for (size_t block = 0; block < shares->block_count; block++) {
        *weight += weight_of(shares, host, block, feature);
        *total += total_of(shares, host, block);
    }
}

double host_shares_of(const struct host_shares *shares, size_t host, size_t feature)
{
    double weight, total;
    sum_up(shares, host, feature, &weight, &total);
    return total > 0 ? weight / total : 0;
}

static double arcsine(double weight, double total)
{
    double share = total > 0 ? weight / total : 0;
    return asin(sqrt(share < 0 ? 0 : share > 1 ? 1 : share));
}

/* How much the arcsine would vary in other recordings of the host: each block is left out once. */
static double variance_within(const struct host_shares *shares, size_t host, size_t feature)
{
    double weight, total, sum = 0, squares = 0, count = 0;
    sum_up(shares, host, feature, &weight, &total);
    for (size_t block = 0; block < shares->block_count; block++) {
        double left = total - total_of(shares, host, block);
        if (total_of(shares, host, block) <= 0 || left <= 0)
            continue;
        double value = arcsine(weight - weight_of(shares, host, block, feature), left);
        sum += value;
        squares += value * value;
        count++;
    }
    double variance = count < 2 ? 0 : (squares - sum * sum / count) * (count - 1) / count;
    return variance > LEAST_VARIANCE ? variance : LEAST_VARIANCE;
}

/* ---- medians ---- */

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Sorts the values. */
static double median_of(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), compare);
    return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Of all but one host. */
static double median_of_others(const double *values, size_t count, size_t host)
{
    double others[MOST_HOSTS];
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        if (i != host)
            others[size++] = values[i];
    return median_of(others, size);
}

/* Beyond what the variance within hosts explains. */
static double variance_between_others(const double *values, const double *within, size_t count, size_t host)
{
    double distances[MOST_HOSTS], mean = 0;
    size_t size = 0;
    double median = median_of_others(values, count, host);
    for (size_t i = 0; i < count; i++) {
        if (i == host)
            continue;
        distances[size++] = fabs(values[i] - median);
        mean += within[i] / (double)(count - 1);
    }
    double deviation = MAD_TO_DEVIATION * median_of(distances, size);
    double variance = deviation * deviation - mean;
    return variance > 0 ? variance : 0;
}

/* ---- the test ---- */

static bool test_host(const double *values, const double *within, size_t count, size_t host, double tests,
                      double *chance)
{
    double between = variance_between_others(values, within, count, host);
    double of_others = 0;
    for (size_t i = 0; i < count; i++)
        of_others += i == host ? 0 : within[i] / (double)(count - 1);
    double of_median = VARIANCE_OF_MEDIAN * (of_others + between) / (double)(count - 1);
    double distance = values[host] - median_of_others(values, count, host);
    double t = distance / sqrt(within[host] + between + of_median);
    *chance = student_two_sided(t, (double)count - 2) * tests;
    return *chance < ALARM_CHANCE;
}

static void insert(struct host_outlier *outliers, size_t limit, size_t count,
                   const struct host_outlier *outlier)
{
    size_t at = count < limit ? count : limit;
    double size = fabs(outlier->share - outlier->median);
    while (at > 0 && size > fabs(outliers[at - 1].share - outliers[at - 1].median)) {
        if (at < limit)
            outliers[at] = outliers[at - 1];
        at--;
    }
    if (at < limit)
        outliers[at] = *outlier;
}

static size_t test_feature(const struct host_shares *shares, size_t feature, struct host_outlier *outliers,
                           size_t limit, size_t found)
{
    double values[MOST_HOSTS], within[MOST_HOSTS], plain[MOST_HOSTS];
    double comparisons = shares->comparison_count > 0 ? (double)shares->comparison_count : 1;
    double tests = (double)shares->host_count * (double)shares->feature_count * comparisons;
    for (size_t host = 0; host < shares->host_count; host++) {
        double weight, total;
        sum_up(shares, host, feature, &weight, &total);
        values[host] = arcsine(weight, total);
        within[host] = variance_within(shares, host, feature);
        plain[host] = total > 0 ? weight / total : 0;
    }
    for (size_t host = 0; host < shares->host_count; host++) {
        struct host_outlier outlier = {.host = host, .feature = feature, .share = plain[host]};
        outlier.median = median_of_others(plain, shares->host_count, host);
        if (fabs(outlier.share - outlier.median) < OUTLIER_LEAST_DIFFERENCE ||
            !test_host(values, within, shares->host_count, host, tests, &outlier.chance))
            continue;
        insert(outliers, limit, found++, &outlier);
    }
    return found;
}

size_t host_outliers_find(const struct host_shares *shares, struct host_outlier *outliers, size_t limit)
{
    size_t found = 0;
    if (shares->host_count < OUTLIER_LEAST_HOSTS || shares->host_count > MOST_HOSTS ||
        shares->block_count < OUTLIER_LEAST_BLOCKS)
        return 0;
    for (size_t feature = 0; feature < shares->feature_count; feature++)
        found = test_feature(shares, feature, outliers, limit, found);
    return found;
}

double host_similarity(const struct host_shares *shares, size_t left, size_t right)
{
    double product = 0, left_square = 0, right_square = 0;
    for (size_t feature = 0; feature < shares->feature_count; feature++) {
        double a = host_shares_of(shares, left, feature), b = host_shares_of(shares, right, feature);
        product += a * b;
        left_square += a * a;
        right_square += b * b;
    }
    return left_square == 0 || right_square == 0 ? left_square == right_square
                                                 : product / sqrt(left_square * right_square);
}
