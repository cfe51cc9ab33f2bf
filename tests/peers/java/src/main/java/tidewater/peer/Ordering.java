package tidewater.peer;

import org.apache.paimon.types.DataType;
import org.apache.paimon.utils.InternalRowUtils;

/** The order in which statistics bound values. */
final class Ordering {

    private Ordering() {}

    /** Whether statistics bound this type; Paimon keeps none for binary, nested and variant columns. */
    static boolean has(DataType type) {
        switch (type.getTypeRoot()) {
            case BINARY:
            case VARBINARY:
            case ARRAY:
            case MAP:
            case MULTISET:
            case ROW:
            case VARIANT:
                return false;
            default:
                return true;
        }
    }

    static boolean isNan(Object value) {
        return value instanceof Double && ((Double) value).isNaN() || value instanceof Float && ((Float) value).isNaN();
    }

    /** Both zeros are one, as in Parquet's footers. */
    static int compare(Object a, Object b, DataType type) {
        if (a instanceof Double) {
            return Double.compare((Double) a + 0.0, (Double) b + 0.0);
        }
        if (a instanceof Float) {
            return Float.compare((Float) a + 0.0f, (Float) b + 0.0f);
        }
        if (a instanceof Boolean) {
            return Boolean.compare((Boolean) a, (Boolean) b);
        }
        return InternalRowUtils.compare(a, b, type.getTypeRoot());
    }
}
